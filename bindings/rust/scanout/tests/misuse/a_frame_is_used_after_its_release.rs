// E0382
use scanout::*;
pub fn f(frame: Frame, fence: std::os::unix::io::OwnedFd) -> u64 {
    frame.release_after(fence);
    frame.sequence()
}
