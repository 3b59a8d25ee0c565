package dev.stoker.storage;

/** Checks object names. */
public final class ObjectNames {

    private ObjectNames() {}

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
