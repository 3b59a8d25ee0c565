package dev.stoker.connectors.files.source;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.source.enumerator.FileTreeEnumerator;
import dev.stoker.connectors.files.source.enumerator.FileTreeState;
import dev.stoker.connectors.files.source.enumerator.FileTreeStateSerializer;
import dev.stoker.connectors.files.source.reader.FileTreeReader;
import dev.stoker.connectors.files.source.reader.ListingPool;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.connectors.files.source.split.DirectorySplitSerializer;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import java.io.IOException;
import java.util.OptionalLong;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The files of a tree, as bundles of paths; bounded, for batch execution. Every reader ends with one bundle of kind
 * {@link PathBundle.Kind#COUNTS}.
 */
public final class FileTreeSource implements Source<PathBundle, DirectorySplit, FileTreeState> {

    private static final long serialVersionUID = 1;

    private final FileTree tree;
    private final WalkOrder order;
    private final int threads;
    private final long limit;

    private FileTreeSource(FileTree tree, WalkOrder order, int threads, long limit) {
        this.tree = tree;
        this.order = order;
        this.threads = threads;
        this.limit = limit;
    }

    /** Begins a source of the files of a tree. */
    public static Builder builder(FileTree tree) {
        return new Builder(tree);
    }

    /** The settings of a source. For one thread. */
    public static final class Builder {

        private final FileTree tree;
        private WalkOrder order = new WalkOrder.Listed();
        private int threads = 1;
        private long limit = Long.MAX_VALUE;

        private Builder(FileTree tree) {
            this.tree = tree;
        }

        /** Sets the order in which Flink's sort puts the files. By default as listed. */
        public Builder order(WalkOrder wanted) {
            order = wanted;
            return this;
        }

        /** Sets the number of threads that list directories in each reader. By default 1. */
        public Builder threads(int listing) {
            threads = listing;
            return this;
        }

        /** Reads only the first files of the tree's listing, with one thread. Requires a parallelism of 1. */
        public Builder limit(long files) {
            limit = files;
            return this;
        }

        /**
         * Builds the source.
         *
         * @throws IllegalArgumentException if the number of threads is not positive, or the limit is negative
         */
        public FileTreeSource build() {
            if (threads < 1) {
                throw new IllegalArgumentException("A reader needs at least one thread, not " + threads);
            }
            if (limit < 0) {
                throw new IllegalArgumentException("The limit of files is negative: " + limit);
            }
            boolean isLimited = limit != Long.MAX_VALUE;
            boolean isSorted = isLimited || order instanceof WalkOrder.Listed;
            return new FileTreeSource(isSorted ? tree.inOrder() : tree, order, isLimited ? 1 : threads, limit);
        }
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<DirectorySplit, FileTreeState> createEnumerator(
            SplitEnumeratorContext<DirectorySplit> context) {
        return new FileTreeEnumerator(context, perReader());
    }

    @Override
    public SplitEnumerator<DirectorySplit, FileTreeState> restoreEnumerator(
            SplitEnumeratorContext<DirectorySplit> context, FileTreeState state) {
        return new FileTreeEnumerator(context, perReader(), state);
    }

    /** A limit needs the listing's order, so only one directory is listed at a time. */
    private int perReader() {
        return limit == Long.MAX_VALUE ? Math.max(8, 4 * threads) : 1;
    }

    @Override
    public SourceReader<PathBundle, DirectorySplit> createReader(SourceReaderContext context) throws IOException {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        OptionalLong most = limit == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(limit);
        return new FileTreeReader(context, new ListingPool(DirectoryLister.open(tree), threads), order, most);
    }

    @Override
    public SimpleVersionedSerializer<DirectorySplit> getSplitSerializer() {
        return DirectorySplitSerializer.INSTANCE;
    }

    @Override
    public SimpleVersionedSerializer<FileTreeState> getEnumeratorCheckpointSerializer() {
        return FileTreeStateSerializer.INSTANCE;
    }
}
