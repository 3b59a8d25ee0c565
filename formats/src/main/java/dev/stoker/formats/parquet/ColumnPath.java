package dev.stoker.formats.parquet;

import dev.stoker.formats.BadValueException;
import java.util.List;

/**
 * The nodes of a schema from the root to a leaf whose definition levels say something.
 *
 * @param nodes the nodes, from the outermost one
 * @param lists the definition level of an item of each list, from the outermost list
 * @param emptyStructs whether a struct may be null, which then means that each of its fields is null
 */
record ColumnPath(List<Node> nodes, int[] lists, boolean emptyStructs) {
    /** What a node is. */
    enum Kind {
        STRUCT,
        LIST,
        /** A struct in a list. */
        ITEM,
        /** A value in a list. */
        ELEMENT,
        /** A value in a struct or in a row. */
        VALUE;

        boolean isValue() {
            return this == ELEMENT || this == VALUE;
        }
    }

    /**
     * A node that may be missing.
     *
     * @param name dotted name
     * @param definition definition level of a value in which the node is there
     */
    record Node(String name, Kind kind, int definition) {}

    /** Throws unless the innermost node that is missing at this level is the value itself. */
    void requireStructs(int definition) throws BadValueException {
        Node missing = missing(definition);
        if (missing.kind() != Kind.VALUE && !emptyStructs) {
            throw nullNode(missing);
        }
    }

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
        return switch (node.kind()) {
            case STRUCT ->
                new BadValueException(
                        "struct '" + node.name() + "' is null; fill it before, or leave its fields out with --without");
            case LIST ->
                new BadValueException("a list inside '" + node.name()
                        + "' is null; fill it before, or leave the column out with --without");
            case ITEM, ELEMENT, VALUE ->
                new BadValueException("an item of list '" + node.name()
                        + "' is null; fill it before, or leave the column out with --without");
        };
    }
}
