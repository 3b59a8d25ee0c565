package dev.stoker.mount.tree;

import dev.stoker.metadata.files.SampleDirectory;
import dev.stoker.metadata.files.SamplePath;
import java.io.IOException;
import java.util.Optional;

/**
 * A directory of one version.
 *
 * @param version the version
 * @param keys its keys
 */
record KeyDirectory(OpenVersion version, SampleDirectory keys) implements Node.Directory {

    @Override
    public long modifiedMs() {
        return version.committedMs();
    }

    @Override
    public DirectoryListing list() {
        version.retain();
        return new DirectoryListing() {
            private final SampleDirectory.Entries entries = keys.list();

            @Override
            public Optional<Listed> next() throws IOException {
                Optional<SamplePath> next = entries.next();
                return next.map(entry -> new Listed(entry.name(), entry.isDirectory()));
            }

            @Override
            public void close() {
                version.release();
            }
        };
    }
}
