package dev.stoker.ingest.spec;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Kinds of files by their extensions; a kind names the field of a file's bytes. */
public enum FileKind {
    IMAGE("image", "binary", "jpg jpeg jpe png gif bmp webp tif tiff ppm pgm pbm pnm jp2 heic heif avif jxl"),
    AUDIO("audio", "binary", "wav flac mp3 ogg oga opus m4a aac aiff aif wma"),
    TEXT("text", "utf8", "txt text md json jsonl csv tsv xml html htm yaml yml"),
    DATA("data", "binary", "");

    /** A longer ending is part of the name. */
    private static final int LONGEST = 12;

    private static final Map<String, FileKind> BY_EXTENSION = new HashMap<>();

    static {
        for (FileKind kind : values()) {
            for (String extension : kind.extensions.split(" ", -1)) {
                BY_EXTENSION.put(extension, kind);
            }
        }
    }

    private final String field;
    private final String type;
    private final String extensions;

    FileKind(String field, String type, String extensions) {
        this.field = field;
        this.type = type;
        this.extensions = extensions;
    }

    /** Returns the name of the field for the bytes of such a file. */
    public String field() {
        return field;
    }

    /** Canonical type of the field. */
    public String type() {
        return type;
    }

    /** Returns the kind of a file by its extension. */
    public static FileKind of(String path) {
        return BY_EXTENSION.getOrDefault(extension(path), DATA);
    }

    /**
     * Returns the extension of a path without its dot, in lower case; empty if it has none. A number is no extension:
     * a tree can have as many names such as {@code scan.0001} as files.
     */
    public static String extension(String path) {
        int dot = path.lastIndexOf('.');
        if (dot <= path.lastIndexOf('/') + 1 || path.length() - dot - 1 > LONGEST) {
            return "";
        }
        String extension = path.substring(dot + 1).toLowerCase(Locale.ROOT);
        return extension.chars().allMatch(Character::isDigit) ? "" : extension;
    }
}
