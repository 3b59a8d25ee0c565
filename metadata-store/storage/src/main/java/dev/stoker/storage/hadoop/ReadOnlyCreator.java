package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.UnsupportedStoreException;

/**
 * Rejects the creation of objects on a file system that is not known to assign a name once. Such a file system is
 * read-only.
 */
final class ReadOnlyCreator implements ObjectCreator {

    private final ObjectPaths paths;

    ReadOnlyCreator(ObjectPaths paths) {
        this.paths = paths;
    }

    private UnsupportedStoreException refuse(String name) {
        return new UnsupportedStoreException("Cannot write " + paths.describe(name)
                + ": Stoker writes only to hdfs, viewfs over it, s3a, gs and directories of this machine, because it"
                + " must create objects atomically; if a rename of this file system is atomic and never replaces a"
                + " file, add its scheme to " + StoreConfiguration.RENAME_SCHEMES + " in core-site.xml");
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws UnsupportedStoreException {
        throw refuse(name);
    }

    @Override
    public void replace(String name, byte[] content) throws UnsupportedStoreException {
        throw refuse(name);
    }

    @Override
    public ObjectWriter write(String name) throws UnsupportedStoreException {
        throw refuse(name);
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) {
        return ObjectIterator.none();
    }

    @Override
    public boolean deleteUnfinished(String name) {
        return false;
    }
}
