// E0499
use scanout::*;
pub fn f(sound: &mut Sound) -> f32 {
    let block = sound.next(None).unwrap().unwrap();
    let _next = sound.next(None);
    block.samples[0]
}
