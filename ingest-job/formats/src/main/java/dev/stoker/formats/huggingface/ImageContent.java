package dev.stoker.formats.huggingface;

import dev.stoker.schemas.io.MagicBytes;
import java.nio.ByteBuffer;

/** Recognises images by their first bytes: JPEG, PNG, GIF, BMP, WebP and TIFF. */
public final class ImageContent {
    private ImageContent() {}

    /** Returns whether content begins as an image. */
    public static boolean isImage(ByteBuffer content) {
        return MagicBytes.areAt(content, 0, "\u00ff\u00d8\u00ff")
                || MagicBytes.areAt(content, 0, "\u0089PNG\r\n\u001a\n")
                || MagicBytes.areAt(content, 0, "GIF87a")
                || MagicBytes.areAt(content, 0, "GIF89a")
                || (MagicBytes.areAt(content, 0, "BM") && MagicBytes.areAt(content, 6, "\0\0\0\0"))
                || (MagicBytes.areAt(content, 0, "RIFF") && MagicBytes.areAt(content, 8, "WEBP"))
                || MagicBytes.areAt(content, 0, "II*\0")
                || MagicBytes.areAt(content, 0, "MM\0*");
    }
}
