package dev.stoker.formats.huggingface;

import java.nio.ByteBuffer;

/** Recognises images by their first bytes: JPEG, PNG, GIF, BMP, WebP and TIFF. */
public final class ImageContent {
    private ImageContent() {}

    /** Returns whether content begins as an image. */
    public static boolean isImage(ByteBuffer content) {
        return has(content, 0, "\u00ff\u00d8\u00ff")
                || has(content, 0, "\u0089PNG\r\n\u001a\n")
                || has(content, 0, "GIF87a")
                || has(content, 0, "GIF89a")
                || (has(content, 0, "BM") && has(content, 6, "\0\0\0\0"))
                || (has(content, 0, "RIFF") && has(content, 8, "WEBP"))
                || has(content, 0, "II*\0")
                || has(content, 0, "MM\0*");
    }

    private static boolean has(ByteBuffer content, int at, String bytes) {
        if (content.remaining() < at + bytes.length()) {
            return false;
        }
        for (int i = 0; i < bytes.length(); i++) {
            if ((content.get(content.position() + at + i) & 0xFF) != bytes.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
