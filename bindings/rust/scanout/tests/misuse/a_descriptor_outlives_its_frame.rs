// E0505
use scanout::*;
pub fn f(frame: Frame) -> std::io::Result<std::os::unix::io::OwnedFd> {
    let memory = frame.memory();
    drop(frame);
    memory.try_clone_to_owned()
}
