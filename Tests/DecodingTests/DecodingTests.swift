import Decoding
