package dev.stoker.export.task;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.export.place.ExportTarget;
import dev.stoker.export.place.SuccessFile;
import dev.stoker.export.spec.Content;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.files.FilesWriter;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Makes the export complete after the last shard. Runs on the task's thread, once in the job. */
public final class CommitOperator extends AbstractStreamOperator<ShardReport>
        implements OneInputStreamOperator<ShardReport, ShardReport>, BoundedOneInput {
    private static final long serialVersionUID = 1;

    private final ExportWork work;
    private final String datasetId;

    private transient Map<Integer, ShardReport> reports;

    public CommitOperator(ExportWork work, String datasetId) {
        this.work = work;
        this.datasetId = datasetId;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        reports = new TreeMap<>();
    }

    @Override
    public void processElement(StreamRecord<ShardReport> element) {
        reports.put(element.getValue().shard(), element.getValue());
    }

    @Override
    public void endInput() throws Exception {
        if (reports.size() != work.shards().size()) {
            throw new IOException("the export wrote " + reports.size() + " of "
                    + work.shards().size() + " shards; run it again");
        }
        try (ExportTarget target = work.target().open()) {
            target.commit(description().toPrettyString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private ObjectNode description() {
        Content content = work.content();
        ObjectNode json = Json.object();
        json.put(SuccessFile.MARK, 1).put(SuccessFile.ID, work.target().export());
        json.put("dataset", datasetId).put("version", work.version());
        json.put("format", content.format()).put("compression", content.compression());
        if (content.images() != null) {
            json.put("layout", "huggingface");
        }
        json.put("order", work.order().toString());
        content.condition().ifPresent(where -> json.put("where", where.toString()));
        ArrayNode columns = json.putArray("columns");
        content.names().forEach(columns::add);
        json.put("samples", sum(ShardReport::rows)).put("excluded", sum(ShardReport::excluded));
        json.put("files", sum(ShardReport::files)).put("bytes", sum(ShardReport::bytes));
        if (!content.format().equals(FilesWriter.NAME)) {
            ArrayNode shards = json.putArray("shards");
            String ending = Writers.named(content.format()).orElseThrow().ending(content.compression());
            reports.values()
                    .forEach(report -> shards.addObject()
                            .put("name", work.shards().get(report.shard()).name(ending))
                            .put("samples", report.rows())
                            .put("bytes", report.bytes()));
        }
        return json;
    }

    private long sum(ToLongFunction<ShardReport> value) {
        return reports.values().stream().mapToLong(value).sum();
    }
}
