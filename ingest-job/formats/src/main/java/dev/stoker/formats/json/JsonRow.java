package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads one line after the other into a slot for each selected column. Keys are found by their path: the names of the
 * objects around them, joined with dots; lists do not count. Not thread-safe.
 */
final class JsonRow {
    /** Sees a key that the schema does not have. */
    @FunctionalInterface
    interface Unknown {
        /** Leaves out keys that the schema does not have. */
        Unknown IGNORED = path -> {};

        /** @param path of a key whose value is not null */
        void see(String path) throws IOException;
    }

    /** A key, or the object that is the row. */
    private static final class Node {
        private final Map<String, Node> children = new HashMap<>();
        /** Begins the paths of keys in objects here. */
        private final String prefix;

        private final @Nullable JsonSlot slot;
        /** Slots of keys in objects here. */
        private final List<JsonSlot> inside = new ArrayList<>();
        /** Whether the schema has the key, or the objects that it has, but no slot does. */
        private final boolean unselected;
        /** Objects of the row's list here. */
        private int objects;

        private Node(String prefix, @Nullable JsonSlot slot, boolean unselected) {
            this.prefix = prefix;
            this.slot = slot;
            this.unselected = unselected;
        }
    }

    private final JsonObjects objects;
    private final Unknown unknown;
    private final JsonSlot[] slots;
    /** All paths of the schema and of the objects around them. */
    private final Set<String> known = new HashSet<>();

    private final Map<String, JsonSlot> slotOf = new HashMap<>();
    private final List<Node> lists = new ArrayList<>();
    private final Node root = new Node("", null, false);

    /**
     * @param names all paths of the schema, also those of columns that cannot become fields
     * @param selected names and types of the selected columns
     * @param declared the columns whose type the user gave
     */
    JsonRow(
            JsonObjects objects,
            Unknown unknown,
            Set<String> names,
            List<Map.Entry<String, FieldType>> selected,
            Set<String> declared) {
        this.objects = objects;
        this.unknown = unknown;
        this.slots = new JsonSlot[selected.size()];
        for (int i = 0; i < slots.length; i++) {
            String name = selected.get(i).getKey();
            FieldType type = selected.get(i).getValue();
            slots[i] = slotOf.computeIfAbsent(name, key -> slot(key, type, declared.contains(key)));
        }
        for (String name : names) {
            for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
                known.add(name.substring(0, dot));
            }
            known.add(name);
        }
    }

    private JsonSlot slot(String name, FieldType type, boolean declared) {
        if (type instanceof TensorType tensor) {
            return new TensorSlot(name, tensor);
        }
        if (type instanceof ListType list) {
            return new ListSlot(name, type, list.element(), list.isOfLists() ? 2 : 1);
        }
        boolean text = type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL;
        return declared && text ? new RawSlot(name, type, objects) : new ScalarSlot(name, type);
    }

    void emit(int column, ValueSink sink) throws BadValueException {
        slots[column].emit(sink);
    }

    /** Reads the row, whose first token is the parser's current one. */
    void read(JsonParser parser) throws IOException {
        for (JsonSlot slot : slots) {
            slot.clear();
        }
        for (Node list : lists) {
            list.objects = 0;
        }
        object(parser, root, 0);
    }

    private void object(JsonParser parser, Node node, int depth) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            Node child = node.children.get(key);
            if (child == null) {
                child = child(node, key);
            }
            if (child != null) {
                value(parser, child, depth);
            } else {
                if (parser.currentToken() != JsonToken.VALUE_NULL) {
                    unknown.see(path(node, key));
                }
                parser.skipChildren();
            }
        }
    }

    /** Returns the node of a key of the schema, otherwise null. */
    private @Nullable Node child(Node node, String key) {
        String path = path(node, key);
        if (!known.contains(path)) {
            return null;
        }
        List<JsonSlot> inside = new ArrayList<>();
        slotOf.forEach((name, slot) -> {
            if (name.startsWith(path + ".")) {
                inside.add(slot);
            }
        });
        JsonSlot slot = slotOf.get(path);
        Node child = new Node(path + ".", slot, slot == null && inside.isEmpty());
        child.inside.addAll(inside);
        node.children.put(key, child);
        lists.add(child);
        return child;
    }

    private static String path(Node node, String key) {
        return node.prefix.isEmpty() ? key : node.prefix + key;
    }

    private void value(JsonParser parser, Node node, int depth) throws IOException {
        if (node.unselected) {
            parser.skipChildren();
        } else if (node.slot != null
                && (node.slot.takesAll() || parser.currentToken().isScalarValue())) {
            scalar(parser, node.slot, depth);
        } else if (parser.currentToken() == JsonToken.START_ARRAY) {
            list(parser, node, depth);
        } else if (parser.currentToken() == JsonToken.START_OBJECT) {
            struct(parser, node, depth);
        } else if (parser.currentToken() != JsonToken.VALUE_NULL) {
            failInside(node, parser);
        } else if (depth > 0) {
            nullItem(node, depth);
        }
    }

    private void scalar(JsonParser parser, JsonSlot slot, int depth) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL && !slot.takesAll()) {
            if (depth > 0) {
                slot.takeNullItem(depth);
            }
            return;
        }
        try {
            slot.take(parser, depth);
        } catch (BadValueException e) {
            slot.fail(ErrorText.of(e));
        }
    }

    private void list(JsonParser parser, Node node, int depth) throws IOException {
        if (depth >= 2) {
            failInside(node, parser);
            parser.skipChildren();
            return;
        }
        if (node.slot != null) {
            node.slot.openList(depth);
        }
        for (JsonSlot slot : node.inside) {
            slot.openList(depth);
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            value(parser, node, depth + 1);
        }
        if (node.slot != null) {
            node.slot.closeList(depth);
        }
    }

    private void struct(JsonParser parser, Node node, int depth) throws IOException {
        if (node.slot != null || depth > 1) {
            failInside(node, parser);
            parser.skipChildren();
            return;
        }
        object(parser, node, depth);
        if (depth == 1) {
            node.objects++;
            for (JsonSlot slot : node.inside) {
                if (slot.size() != node.objects) {
                    slot.fail("object " + node.objects + " of the list does not have it");
                }
            }
        }
    }

    /** Reads a null object of a list: each of its fields is null. */
    private static void nullItem(Node node, int depth) {
        node.objects++;
        for (JsonSlot slot : node.inside) {
            slot.takeNullItem(depth);
        }
    }

    private static void failInside(Node node, JsonParser parser) {
        if (node.slot != null) {
            node.slot.fail(parser);
        }
        for (JsonSlot slot : node.inside) {
            slot.fail(JsonTokens.words(parser.currentToken()) + " is where the first rows have objects");
        }
    }
}
