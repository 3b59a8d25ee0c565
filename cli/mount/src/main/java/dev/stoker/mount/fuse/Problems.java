package dev.stoker.mount.fuse;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports why calls ended with an I/O error, once for each file, to the log and to a listener. Thread-safe; the monitor
 * of this object guards the set.
 */
public final class Problems {

    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    /** Files whose problem is remembered. After this number, the same problem is reported again. */
    private static final int REMEMBERED = 10_000;

    private final Consumer<String> listener;
    private final Set<String> reported = new HashSet<>();

    /** @param listener receives each line that is logged */
    public Problems(Consumer<String> listener) {
        this.listener = listener;
    }

    void damaged(String path, CorruptDataException why) {
        report(path, "Cannot read " + path + ": " + ErrorText.of(why), null);
    }

    void failed(String path, IOException why) {
        report(path, "Cannot read " + path + ": " + ErrorText.of(why), why);
    }

    void broken(String path, Throwable why) {
        report(path, "Cannot answer a call for " + path + ": " + why, why);
    }

    private void report(String path, String line, @Nullable Throwable why) {
        synchronized (this) {
            if (reported.size() >= REMEMBERED) {
                reported.clear();
            }
            if (!reported.add(path + "\n" + line)) {
                return;
            }
        }
        if (why == null) {
            LOG.error(line);
        } else {
            LOG.error(line, why);
        }
        listener.accept(line);
    }
}
