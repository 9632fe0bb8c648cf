//! Pictures, sound and video.

use crate::policy::role::{Role, Syntax};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads};
use crate::policy::{exiftool, ffmpeg, magick};

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere("ffprobe", "ffmpeg", Syntax::new(Role::Read))
        .special(ffmpeg::ffprobe)
        .examples(&[
            reads("-v error -show_format -show_streams -of json a.mp4"),
            reads("-i a.mp3"),
            reads("-v error -show_format https://example.org/a.mp3"),
            forbidden("rtmp://example.org/a"),
            forbidden("-headers x https://example.org/a.mp3"),
            forbidden("concat:a|b"),
            forbidden("-f lavfi -i sine"),
            escapes("/etc/passwd"),
        ]),
    CommandRule::writable("ffmpeg", "ffmpeg", Syntax::new(Role::Write))
        .special(ffmpeg::ffmpeg)
        .fixed(&["-nostdin"])
        .examples(&[
            changes("-i a.wav b.mp3"),
            changes("-y -i a.mp4 -ss 00:00:05 -t 10 -c:v libx264 -crf 23 -vf scale=640:-1 b.mp4"),
            reads("-i a.mp4 -f null -"),
            changes("-i https://example.org/a.mp4 -t 10 b.mp3"),
            forbidden("-i ftp://example.org/a b.mp3"),
            forbidden("-i a.mp4 -f mp3 http://example.org/b"),
            forbidden("-method POST -i http://example.org/a b.mp3"),
            forbidden("-http_proxy http://example.org -i http://example.org/a b.mp3"),
            forbidden("-i https:a b.mp3"),
            forbidden("-i file:/etc/passwd b.mp3"),
            forbidden("-i subfile,,start,0,end,9,,:a b.mp3"),
            forbidden("-f concat -i list.txt b.mp4"),
            forbidden("-protocol_whitelist all -i a b"),
            forbidden("-report -i a b"),
            escapes("-i /etc/passwd b.mp3"),
            escapes("-i a.wav ../b.mp3"),
        ]),
    CommandRule::everywhere("identify", "imagemagick", Syntax::new(Role::Read))
        .special(magick::identify)
        .examples(&[
            reads("-format '%w %h' a.png"),
            reads("-verbose a.png"),
            forbidden("gray:/etc/passwd"),
            forbidden("@list.txt"),
            escapes("png:/etc/passwd"),
            escapes("/etc/passwd"),
        ]),
    CommandRule::writable("convert", "imagemagick", Syntax::new(Role::Read))
        .special(magick::convert)
        .examples(&[
            changes("a.png -resize 50% b.jpg"),
            changes("a.png b.png +append c.png"),
            changes("-size 100x100 xc:white -draw 'text 10,10 hello' out.png"),
            changes("in.gif -coalesce PNG32:out.png"),
            reads("a.png info:"),
            forbidden("a.png -write b.png c.png"),
            forbidden("label:@/etc/passwd b.png"),
            forbidden("msl:x b.png"),
            forbidden("https://example.org/a.png b.png"),
            escapes("/etc/passwd b.png"),
            escapes("a.png ../b.png"),
        ]),
    CommandRule::writable("magick", "imagemagick", Syntax::new(Role::Read))
        .program("convert")
        .special(magick::magick)
        .examples(&[
            changes("a.png -rotate 90 b.png"),
            reads("identify a.png"),
            forbidden("mogrify -resize 50% a.png"),
            escapes("a.png /tmp/b.png"),
        ]),
    CommandRule::everywhere(
        "exiftool",
        "libimage-exiftool-perl",
        Syntax::new(Role::Read),
    )
    .special(exiftool::read)
    .helpers(&["perl"])
    .fixed(&["-config", ""])
    .examples(&[
        reads("-j a.jpg"),
        reads("-DateTimeOriginal -s3 a.jpg"),
        changes("-overwrite_original -Artist=Me a.jpg"),
        changes("-all= a.jpg"),
        forbidden("-if 1 a.jpg"),
        forbidden("-p '${x;system(1)}' a.jpg"),
        forbidden("-Comment<=/etc/passwd a.jpg"),
        forbidden("-@ list"),
        forbidden("-FileName=x a.jpg"),
        forbidden("-config x a.jpg"),
        escapes("/etc/passwd"),
    ]),
];
