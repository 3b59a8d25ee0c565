package dev.stoker.cli.ingest;

import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.redis.RedisAddresses;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.cli.samples.RedisOption;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectIterator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the sample index up to date after a verb has committed a version. A failure is a warning. */
public final class IndexUpdate {

    private static final Logger LOG = LoggerFactory.getLogger(IndexUpdate.class);

    private IndexUpdate() {}

    /** Indexes the samples that the index lacks. */
    static void afterCommit(String path, PrintWriter err) {
        try (OpenDataset open = OpenDataset.open(path)) {
            IndexVerb.build(open.dataset(), ReadThreads.of(null, path), false);
            Optional<RedisAddresses> redis = RedisOption.ofEnvironment(open.dataset());
            if (redis.isPresent()) {
                try (RedisAddresses places = redis.get()) {
                    places.load(open.dataset(), open.dataset().snapshot(), ReadThreads.of(null, path));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            warn(path, "interrupted", err);
        } catch (IOException | RuntimeException e) {
            LOG.warn("The sample index of {} was not built", path, e);
            warn(path, ErrorText.of(e), err);
        }
    }

    /** Indexes the samples that the index lacks, if the dataset has an index. */
    public static void ofExisting(OpenDataset open, String path, PrintWriter err) throws IOException {
        boolean isThere;
        try (ObjectIterator runs = open.dataset().store().list(DatasetLayout.INDEX)) {
            isThere = runs.hasNext();
        }
        if (isThere) {
            afterCommit(path, err);
        }
    }

    private static void warn(String path, String problem, PrintWriter err) {
        err.println("stoker: the version is committed, but the sample index was not built: " + problem
                + "; build it with: stoker index " + ShellText.word(path));
    }
}
