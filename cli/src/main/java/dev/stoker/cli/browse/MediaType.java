package dev.stoker.cli.browse;

import dev.stoker.schemas.io.MagicBytes;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/**
 * The kinds of content that a browser may show. Recognised by the first bytes, whatever the name of a sample says. SVG
 * and HTML are not among them, because they can contain scripts.
 */
enum MediaType {
    PNG("image/png", "png"),
    JPEG("image/jpeg", "jpg"),
    GIF("image/gif", "gif"),
    WEBP("image/webp", "webp"),
    BMP("image/bmp", "bmp"),
    AVIF("image/avif", "avif"),
    WAV("audio/wav", "wav"),
    MP3("audio/mpeg", "mp3"),
    OGG("audio/ogg", "ogg"),
    FLAC("audio/flac", "flac"),
    MP4("video/mp4", "mp4"),
    WEBM("video/webm", "webm");

    private final String contentType;
    private final String extension;

    MediaType(String contentType, String extension) {
        this.contentType = contentType;
        this.extension = extension;
    }

    String contentType() {
        return contentType;
    }

    /** Returns the usual end of names of such files. */
    String extension() {
        return extension;
    }

    /** Returns {@code image}, {@code audio} or {@code video}. */
    String kind() {
        return contentType.substring(0, contentType.indexOf('/'));
    }

    /** Recognises content; empty for content that is none of these. */
    static Optional<MediaType> of(ByteBuffer content) {
        return Arrays.stream(values()).filter(type -> type.matches(content)).findFirst();
    }

    private boolean matches(ByteBuffer content) {
        return switch (this) {
            case PNG -> MagicBytes.areAt(content, 0, "\u0089PNG\r\n\u001a\n");
            case JPEG -> MagicBytes.areAt(content, 0, "\u00ff\u00d8\u00ff");
            case GIF -> MagicBytes.areAt(content, 0, "GIF87a") || MagicBytes.areAt(content, 0, "GIF89a");
            case WEBP -> MagicBytes.areAt(content, 0, "RIFF") && MagicBytes.areAt(content, 8, "WEBP");
            case BMP ->
                MagicBytes.areAt(content, 0, "BM")
                        && MagicBytes.areAt(content, 6, "\0\0\0\0")
                        && content.remaining() > 26;
            case AVIF -> MagicBytes.areAt(content, 4, "ftypavif");
            case WAV -> MagicBytes.areAt(content, 0, "RIFF") && MagicBytes.areAt(content, 8, "WAVE");
            case MP3 -> MagicBytes.areAt(content, 0, "ID3") || isMpegFrame(content);
            case OGG -> MagicBytes.areAt(content, 0, "OggS");
            case FLAC -> MagicBytes.areAt(content, 0, "fLaC");
            case MP4 -> MagicBytes.areAt(content, 4, "ftyp");
            case WEBM -> MagicBytes.areAt(content, 0, "\u001aE\u00df\u00a3");
        };
    }

    /** Whether the content begins with the header of an MPEG audio frame of layer III. */
    private static boolean isMpegFrame(ByteBuffer content) {
        if (content.remaining() < 4) {
            return false;
        }
        int header = content.getInt(content.position());
        int version = header >>> 19 & 3;
        int layer = header >>> 17 & 3;
        int rate = header >>> 12 & 15;
        int frequency = header >>> 10 & 3;
        return header >>> 21 == 0x7FF && version != 1 && layer == 1 && rate != 0 && rate != 15 && frequency != 3;
    }
}
