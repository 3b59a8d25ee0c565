package dev.stoker.connectors.files.source.reader;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.connectors.files.source.event.WalkEvent;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;

/**
 * Lists the assigned directories and emits their files in bundles. All methods run on the task's mailbox thread.
 *
 * <p>A bundle mixes files of many directories, so a reader's splits cannot be checkpointed one by one: the source is
 * for batch execution, where a lost reader starts again.
 */
public final class FileTreeReader implements SourceReader<PathBundle, DirectorySplit> {

    /** Listed directories that are reported together while others are available. */
    private static final int REPORTED_TOGETHER = 4;

    private final SourceReaderContext context;
    private final ListingPool pool;
    private final Queue<PathBundle> ready = new ArrayDeque<>();
    private final Bundler bundler;
    private final SkipCounts skipped = new SkipCounts();
    private final List<WalkEvent.Listed> unreported = new ArrayList<>();
    private final long limit;
    private long files;
    private int open;
    private byte[] key = new byte[256];
    private boolean noMoreSplits;
    private boolean flushed;

    public FileTreeReader(SourceReaderContext context, ListingPool pool, WalkOrder order, OptionalLong limit) {
        this.context = context;
        this.pool = pool;
        this.limit = limit.orElse(Long.MAX_VALUE);
        bundler = Bundler.of(order, ready::add);
    }

    @Override
    public void start() {
        pool.start();
    }

    @Override
    public void addSplits(List<DirectorySplit> splits) {
        for (DirectorySplit split : splits) {
            open++;
            if (files < limit) {
                pool.submit(split);
            } else {
                end(new WalkEvent.Listed(split.path(), List.of()));
            }
        }
        pool.wakeUp();
    }

    @Override
    public void notifyNoMoreSplits() {
        noMoreSplits = true;
        pool.wakeUp();
    }

    @Override
    public InputStatus pollNext(ReaderOutput<PathBundle> output) throws IOException {
        PathBundle bundle = ready.poll();
        if (bundle != null) {
            output.collect(bundle);
            return InputStatus.MORE_AVAILABLE;
        }
        if (flushed) {
            return InputStatus.END_OF_INPUT;
        }
        if (noMoreSplits && open == 0) {
            bundler.flush();
            ready.add(PathBundle.of(skipped));
            flushed = true;
            return InputStatus.MORE_AVAILABLE;
        }
        ListingPool.Portion portion = pool.poll();
        if (portion == null) {
            return InputStatus.NOTHING_AVAILABLE;
        }
        add(portion);
        return InputStatus.MORE_AVAILABLE;
    }

    private void add(ListingPool.Portion portion) {
        String directory = portion.directory().path();
        int prefix = setDirectory(directory);
        for (ListingPool.File file : portion.files()) {
            if (files == limit) {
                break;
            }
            files++;
            byte[] name = file.name().getBytes(UTF_8);
            int length = prefix + name.length;
            if (length > key.length) {
                key = Arrays.copyOf(key, 2 * length);
            }
            System.arraycopy(name, 0, key, prefix, name.length);
            bundler.add(directory, key, length, file.size(), file.modifiedMs(), file.sidecars());
        }
        skipped.add(portion.skipped());
        if (portion.end() != null) {
            bundler.endDirectory(directory);
            end(files < limit ? portion.end() : new WalkEvent.Listed(directory, List.of()));
        }
    }

    private int setDirectory(String directory) {
        if (directory.isEmpty()) {
            return 0;
        }
        byte[] bytes = directory.getBytes(UTF_8);
        if (bytes.length + 1 > key.length) {
            key = new byte[2 * bytes.length + 256];
        }
        System.arraycopy(bytes, 0, key, 0, bytes.length);
        key[bytes.length] = '/';
        return bytes.length + 1;
    }

    private void end(WalkEvent.Listed listed) {
        open--;
        unreported.add(listed);
        if (open == 0 || !listed.found().isEmpty() || unreported.size() >= REPORTED_TOGETHER) {
            WalkEvent.of(unreported).forEach(context::sendSourceEventToCoordinator);
            unreported.clear();
        }
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (!ready.isEmpty() || (noMoreSplits && open == 0)) {
            return CompletableFuture.completedFuture(null);
        }
        return pool.isAvailable();
    }

    @Override
    public List<DirectorySplit> snapshotState(long checkpointId) {
        throw new UnsupportedOperationException("the walk of a tree runs in batch execution, without checkpoints");
    }

    @Override
    public void close() {
        pool.close();
    }
}
