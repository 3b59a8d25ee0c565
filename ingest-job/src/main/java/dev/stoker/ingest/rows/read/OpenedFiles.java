package dev.stoker.ingest.rows.read;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourceReader;
import dev.stoker.ingest.rows.source.Unreadable;
import dev.stoker.ingest.rows.source.WhereParts;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What the metadata of files says. Opens several files at a time, because each takes a few waits.
 *
 * @param opened the files in their order; empty for one that cannot be read
 * @param unreadable the files that cannot be read
 */
public record OpenedFiles(List<Optional<Opened>> opened, ArrayList<Unreadable> unreadable) {
    private static final int THREADS = 16;

    /** The columns of a file, and its parts without those that {@code --where} excludes. */
    public record Opened(RowSchema schema, WhereParts.Kept parts) {}

    /**
     * Opens files.
     *
     * @param errors whether files that cannot be read are left out
     */
    public static OpenedFiles of(List<SourceFile> files, RowFiles reading, WhereParts where, FileTree.Errors errors)
            throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(THREADS, files.size()), work -> {
            Thread thread = new Thread(work, "stoker-inspect");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<Opened>> opening = new ArrayList<>();
            for (SourceFile file : files) {
                opening.add(threads.submit(() -> {
                    try (SourceReader reader = SourceReader.open(file);
                            RowFile rows = reading.open(file, reader)) {
                        return new Opened(rows.schema(), where.keep(rows, file));
                    }
                }));
            }
            List<Optional<Opened>> opened = new ArrayList<>();
            ArrayList<Unreadable> unreadable = new ArrayList<>();
            for (int i = 0; i < files.size(); i++) {
                opened.add(result(opening.get(i), files.get(i), errors, unreadable));
            }
            return new OpenedFiles(opened, unreadable);
        } finally {
            threads.shutdownNow();
        }
    }

    private static Optional<Opened> result(
            Future<Opened> file, SourceFile source, FileTree.Errors errors, List<Unreadable> unreadable)
            throws IOException {
        try {
            return Optional.of(file.get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the sources were opened");
        } catch (ExecutionException e) {
            if (errors == FileTree.Errors.SKIP && e.getCause() instanceof IOException failure && isOfFile(failure)) {
                unreadable.add(new Unreadable(source.path(), source.location(), ErrorText.of(failure)));
                return Optional.empty();
            }
            if (e.getCause() instanceof IOException failure) {
                throw new InvalidIngestException(ErrorText.of(failure));
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Returns whether a failure is about the file, and not about a store that is unavailable now. */
    private static boolean isOfFile(IOException failure) {
        return failure instanceof DamagedFileException
                || failure instanceof UnsupportedFileException
                || failure instanceof AccessDeniedException
                || failure instanceof NoSuchFileException;
    }
}
