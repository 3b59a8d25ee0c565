package dev.stoker.ingest.pack.keys;

import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntry;
import java.io.Serializable;

/** Says why a key cannot be used, and what to do. Serialized with the job graph. */
public interface KeyRefusals extends Serializable {
    /** For files, whose keys are their paths: a tree has each path once. */
    KeyRefusals OF_FILES = new KeyRefusals() {
        private static final long serialVersionUID = 1;

        @Override
        public TakenKeyException twice(FileEntry one, FileEntry other) {
            return TakenKeyException.listedTwice(one.path());
        }

        @Override
        public TakenKeyException inDataset(FileEntry file, long chunk) {
            return TakenKeyException.inDataset(file.path(), "chunk " + chunk);
        }
    };

    /** Two samples of the source have one key. */
    TakenKeyException twice(FileEntry one, FileEntry other);

    /**
     * The dataset has the key of a sample of the source.
     *
     * @param chunk ordinal of the chunk with the dataset's sample
     */
    TakenKeyException inDataset(FileEntry file, long chunk);
}
