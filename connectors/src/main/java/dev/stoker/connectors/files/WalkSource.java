package dev.stoker.connectors.files;

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
public final class WalkSource implements Source<PathBundle, DirectorySplit, WalkState> {

    private static final long serialVersionUID = 1;

    private final FileTree tree;
    private final WalkOrder order;
    private final int threads;
    private final long limit;

    private WalkSource(FileTree tree, WalkOrder order, int threads, long limit) {
        this.tree = tree;
        this.order = order;
        this.threads = threads;
        this.limit = limit;
    }

    /**
     * All files.
     *
     * @param threads that list directories, for each reader
     */
    public static WalkSource of(FileTree tree, WalkOrder order, int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("A reader needs at least one thread, not " + threads);
        }
        FileTree listed = order instanceof WalkOrder.Listed ? tree.inOrder() : tree;
        return new WalkSource(listed, order, threads, Long.MAX_VALUE);
    }

    /** Reads the first files of the tree's listing. Requires a parallelism of 1. */
    public static WalkSource first(long limit, FileTree tree, WalkOrder order) {
        return new WalkSource(tree.inOrder(), order, 1, limit);
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<DirectorySplit, WalkState> createEnumerator(SplitEnumeratorContext<DirectorySplit> context) {
        return new WalkEnumerator(context, new DirectoryAssigner(perReader()));
    }

    @Override
    public SplitEnumerator<DirectorySplit, WalkState> restoreEnumerator(
            SplitEnumeratorContext<DirectorySplit> context, WalkState state) {
        return new WalkEnumerator(context, new DirectoryAssigner(perReader(), state));
    }

    /** A limit needs the listing's order, so only one directory is listed at a time. */
    private int perReader() {
        return limit == Long.MAX_VALUE ? Math.max(8, 4 * threads) : 1;
    }

    @Override
    public SourceReader<PathBundle, DirectorySplit> createReader(SourceReaderContext context) throws IOException {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        OptionalLong most = limit == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(limit);
        return new WalkReader(context, new ListingPool(DirectoryLister.open(tree), threads), order, most);
    }

    @Override
    public SimpleVersionedSerializer<DirectorySplit> getSplitSerializer() {
        return DirectorySplitSerializer.INSTANCE;
    }

    @Override
    public SimpleVersionedSerializer<WalkState> getEnumeratorCheckpointSerializer() {
        return WalkStateSerializer.INSTANCE;
    }
}
