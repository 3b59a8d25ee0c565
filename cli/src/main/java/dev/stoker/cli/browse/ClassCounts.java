package dev.stoker.cli.browse;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts samples by class. For one thread. */
public final class ClassCounts {

    private final List<Field> fields;
    private final Map<Integer, Map<String, Long>> counts = new TreeMap<>();
    private long missed;
    private long next = -1;

    ClassCounts(List<Field> fields) {
        this.fields = fields;
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).type() == ScalarType.CATEGORICAL) {
                counts.put(f, new TreeMap<>());
            }
        }
    }

    public void add(ChunkHead head, int[] rows) {
        counts.forEach((field, ofClass) -> {
            ArrowColumn column = head.column(field);
            List<String> names = head.classes(field);
            long[] ids = new long[names.size()];
            for (int row : rows) {
                if (!column.isNull(row)) {
                    ids[column.intAt(row)]++;
                }
            }
            for (int id = 0; id < ids.length; id++) {
                if (ids[id] > 0) {
                    ofClass.merge(names.get(id), ids[id], Long::sum);
                }
            }
        });
    }

    /** Notes samples of a chunk that could not be read. */
    void missed(long samples) {
        missed += samples;
    }

    /** @param position where the counting continues; negative at the end */
    public void end(long position) {
        next = position;
    }

    public ObjectNode json() {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("missed", missed);
        if (next >= 0) {
            node.put("next", next);
        }
        ArrayNode array = node.putArray("fields");
        counts.forEach((field, ofClass) -> {
            ObjectNode one = array.addObject().put("name", fields.get(field).name());
            ObjectNode classes = one.putObject("classes");
            ofClass.forEach(classes::put);
        });
        return node;
    }
}
