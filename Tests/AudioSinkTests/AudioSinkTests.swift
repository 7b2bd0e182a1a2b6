import AudioSink
