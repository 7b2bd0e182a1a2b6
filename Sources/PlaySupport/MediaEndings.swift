/// The endings of names that films, sound and still images have; what a folder's films are known by.
enum MediaEndings {
    static let all: Set<String> = [
        "3g2", "3gp", "asf", "avi", "dv", "f4v", "flv", "ivf", "m2ts", "m2v", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "mxf", "nut", "obu",
        "ogm", "ogv", "qt", "rm", "rmvb", "ts", "vob", "webm", "wmv", "y4m",
        "aac", "ac3", "aif", "aiff", "ape", "au", "dts", "eac3", "flac", "m4a", "mka", "mp2", "mp3", "oga", "ogg", "opus", "tta", "wav", "wma", "wv",
        "avif", "bmp", "gif", "jpeg", "jpg", "jxl", "png", "tif", "tiff", "webp",
    ]
}
