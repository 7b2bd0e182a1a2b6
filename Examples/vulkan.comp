#version 450
// Draws the film turned, a pixel an invocation. To C: glslangValidator -V --vn vulkan_comp vulkan.comp -o vulkan.comp.h
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D planes[3];
layout(binding = 1) writeonly buffer Picture { uint pixels[]; };
layout(push_constant) uniform Push {
    vec4 window[3];  // where the visible part lies in each plane: from xy, zw wide
    vec4 colors[3];  // rows of the matrix from Y, U, V and 1 to red, green and blue
    vec4 turn;       // cosine and sine, and half the film's width and height in halves of the frame's height
    ivec4 size;      // of the frame, and 1 for U and V in one plane
};

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, size.xy))) return;
    vec2 place = (vec2(at) * 2.0 + 1.0 - vec2(size.xy)) / float(size.y);
    vec2 film = vec2(turn.x * place.x - turn.y * place.y, turn.y * place.x + turn.x * place.y) / turn.zw;
    vec3 color = vec3(0);
    if (all(lessThan(abs(film), vec2(1)))) {
        vec2 there = film * 0.5 + 0.5;
        vec4 chroma = texture(planes[1], window[1].xy + there * window[1].zw);
        float v = size.z == 1 ? chroma.g : texture(planes[2], window[2].xy + there * window[2].zw).r;
        vec4 yuv = vec4(texture(planes[0], window[0].xy + there * window[0].zw).r, chroma.r, v, 1);
        color = vec3(dot(colors[0], yuv), dot(colors[1], yuv), dot(colors[2], yuv));
    }
    pixels[at.y * size.x + at.x] = packUnorm4x8(vec4(color, 1));
}
