"""What passes between a decoder and an encoder; knows no protocol and nothing else of ours."""
