package dev.stoker.ingest;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Each test has a source whose ingest gives advice. */
abstract class AdvisedIngest {
    @TempDir
    Path directory;

    AdvisedSource source;

    @BeforeEach
    void createSource() {
        source = new AdvisedSource(directory);
    }
}
