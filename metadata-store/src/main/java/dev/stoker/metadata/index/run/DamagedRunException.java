package dev.stoker.metadata.index.run;

import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.index.SampleRun;
import java.io.IOException;

/** Thrown when a run cannot be used any more. The caller continues without it. */
public final class DamagedRunException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient SampleRun run;
    private final IOException failure;

    public DamagedRunException(SampleRun run, IOException cause) {
        super(ErrorText.of(cause), cause);
        this.run = run;
        this.failure = cause;
    }

    /** Returns why the run cannot be used. */
    public IOException failure() {
        return failure;
    }

    public SampleRun run() {
        return run;
    }
}
