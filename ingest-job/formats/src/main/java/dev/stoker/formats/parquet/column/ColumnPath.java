package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NullInListException;
import java.util.List;

/**
 * The nodes of a schema from the root to a leaf whose definition levels say something. If a struct is null, each of its
 * fields is null.
 *
 * @param nodes the nodes, from the outermost one
 * @param lists the definition level of an item of each list, from the outermost list
 */
public record ColumnPath(List<Node> nodes, int[] lists) {
    /** What a node is. */
    public enum Kind {
        STRUCT,
        LIST,
        /** A struct in a list. */
        ITEM,
        /** A value in a list. */
        ELEMENT,
        /** A value in a struct or in a row. */
        VALUE
    }

    /**
     * A node that may be missing.
     *
     * @param name dotted name
     * @param definition definition level of a value in which the node is there
     */
    public record Node(String name, Kind kind, int definition) {}

    /** Returns the outermost node that is missing at a level below the greatest. */
    Node missing(int definition) {
        for (Node node : nodes) {
            if (definition < node.definition()) {
                return node;
            }
        }
        throw new IllegalStateException("nothing is missing at level " + definition);
    }

    static BadValueException nullNode(Node node) {
        return new NullInListException(
                node.kind() == Kind.LIST
                        ? NullInListException.inner(node.name())
                        : NullInListException.item(node.name()));
    }
}
