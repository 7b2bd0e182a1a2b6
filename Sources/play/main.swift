print("play")
