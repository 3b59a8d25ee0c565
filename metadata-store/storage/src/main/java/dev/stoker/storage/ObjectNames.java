package dev.stoker.storage;

import java.nio.charset.StandardCharsets;

/** Checks object names. */
public final class ObjectNames {

    /** Bytes of UTF-8 that file systems allow in a part of a path. */
    private static final int MAX_PART_BYTES = 255;

    private ObjectNames() {}

    /**
     * Returns the name of a temporary file beside an object.
     *
     * @param unique the beginning of the name, which no other file has
     * @param part the last part of the object's name, which helps people if there is room for it
     */
    public static String beside(String unique, String part) {
        String name = unique + "-" + part;
        return name.getBytes(StandardCharsets.UTF_8).length <= MAX_PART_BYTES ? name : unique;
    }

    /**
     * Returns the name if it is valid.
     *
     * @throws IllegalArgumentException if it is empty, starts or ends with {@code /}, or has an empty, {@code .} or
     *     {@code ..} part, a backslash or a control character
     */
    public static String check(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("An object name must not be empty");
        }
        int start = 0;
        for (int i = 0; i <= name.length(); i++) {
            if (i < name.length() && name.charAt(i) != '/') {
                if (name.charAt(i) < ' ' || name.charAt(i) == '\\') {
                    throw new IllegalArgumentException(
                            "Not a valid object name, it has a forbidden" + " character: " + name);
                }
                continue;
            }
            String part = name.substring(start, i);
            if (part.isEmpty() || part.equals(".") || part.equals("..")) {
                throw new IllegalArgumentException("Not a valid object name, it has a part '" + part + "': " + name);
            }
            start = i + 1;
        }
        return name;
    }
}
