package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.source.reader.ShuffledBundler;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Bundles listed files by their hashes, to check their keys separately from a listing that keeps its order. */
public final class RehashOperator extends AbstractStreamOperator<PathBundle>
        implements OneInputStreamOperator<PathBundle, PathBundle>, BoundedOneInput {

    private static final long serialVersionUID = 1;

    private transient ShuffledBundler bundler;
    private transient List<FileEntry> files;

    @Override
    public void open() throws Exception {
        super.open();
        bundler = new ShuffledBundler(0, PathBundle.Kind.FILES, bundle -> output.collect(new StreamRecord<>(bundle)));
        files = new ArrayList<>();
    }

    @Override
    public void processElement(StreamRecord<PathBundle> element) {
        if (element.getValue().kind() != PathBundle.Kind.FILES) {
            return;
        }
        FileEntries.decode(element.getValue(), files);
        for (FileEntry file : files) {
            bundler.add("", file.key(), file.key().length, file.size(), file.modifiedMs(), file.sidecars());
        }
        files.clear();
    }

    @Override
    public void endInput() {
        bundler.flush();
    }
}
