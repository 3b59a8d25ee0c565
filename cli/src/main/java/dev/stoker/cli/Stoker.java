package dev.stoker.cli;

/** Entry point of the command {@code stoker}. */
public final class Stoker {
    private Stoker() {}

    public static void main(String[] args) {
        System.err.println("stoker: no verbs yet, this is a placeholder");
        System.exit(2);
    }
}
