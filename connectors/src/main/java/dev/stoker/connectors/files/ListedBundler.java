package dev.stoker.connectors.files;

import java.util.function.Consumer;

/** Cuts the sorted listing of a directory into numbered runs. */
final class ListedBundler implements Bundler {

    private final Consumer<PathBundle> output;
    private final FileEntries.Writer run = new FileEntries.Writer(2 * BUNDLE_BYTES);
    private String directory = "";
    private int number;

    ListedBundler(Consumer<PathBundle> output) {
        this.output = output;
    }

    @Override
    public void add(String directory, byte[] key, int keyLength, long size, long modifiedMs, long[] sidecars) {
        this.directory = directory;
        run.add(key, keyLength, size, modifiedMs, sidecars);
        if (run.length() >= BUNDLE_BYTES) {
            flush();
        }
    }

    @Override
    public void endDirectory() {
        flush();
        number = 0;
    }

    @Override
    public void flush() {
        if (run.length() > 0) {
            output.accept(new PathBundle(
                    PathBundle.Kind.FILES,
                    number++,
                    ListedKey.sortable(directory),
                    run.count(),
                    run.bytes(),
                    run.take()));
        }
    }
}
