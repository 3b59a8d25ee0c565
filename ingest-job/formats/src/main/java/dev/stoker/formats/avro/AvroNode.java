package dev.stoker.formats.avro;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Decodes the values of one schema into the slots of the selected columns. For one thread. */
interface AvroNode {
    /** Decodes one value. Exceptions have a clause as their message. */
    void read(AvroBytes in) throws IOException;

    /** Does something for each slot of the node and of those inside it. */
    void slots(Consumer<Slot> action);

    /** Says that the value is null. */
    void setNull();

    /** A value that is no list or struct. */
    interface Reader {
        /** @param slot takes the value; null if the column was not selected */
        void read(AvroBytes in, @Nullable Slot slot) throws IOException;
    }

    /**
     * A value.
     *
     * @param slot null if the column was not selected
     * @param nullItem what to say about a null in a list; null if the value is in no list
     */
    record Leaf(
            Reader reader, @Nullable Slot slot, @Nullable String nullItem) implements AvroNode {
        @Override
        public void read(AvroBytes in) throws IOException {
            reader.read(in, slot);
        }

        @Override
        public void slots(Consumer<Slot> action) {
            if (slot != null) {
                action.accept(slot);
            }
        }

        @Override
        public void setNull() {
            if (slot != null) {
                if (nullItem == null) {
                    slot.setNull();
                } else {
                    slot.putNull(nullItem);
                }
            }
        }
    }

    /** A record. If it is null, each of its fields is null. */
    record Struct(List<AvroNode> fields) implements AvroNode {
        @Override
        public void read(AvroBytes in) throws IOException {
            for (AvroNode field : fields) {
                field.read(in);
            }
        }

        @Override
        public void slots(Consumer<Slot> action) {
            fields.forEach(field -> field.slots(action));
        }

        @Override
        public void setNull() {
            fields.forEach(AvroNode::setNull);
        }
    }

    /**
     * An array, or a map with keys.
     *
     * @param key the keys of a map; null for an array
     * @param nullList what to say about a null if it is inside another list; null if it is not
     * @param maxItems items that it may have
     */
    record Array(
            @Nullable AvroNode key, AvroNode item, @Nullable String nullList, long maxItems) implements AvroNode {
        @Override
        public void read(AvroBytes in) throws IOException {
            slots(nullList == null ? Slot::beginList : Slot::beginInnerList);
            long items = 0;
            for (long count = in.readLong(); count != 0; count = in.readLong()) {
                if (count < 0) {
                    in.readLong();
                    count = -count;
                }
                items += count;
                if (count < 0 || items > maxItems) {
                    throw new IOException("a list has " + items + " items; the limit is " + maxItems);
                }
                for (long i = 0; i < count; i++) {
                    if (key != null) {
                        key.read(in);
                    }
                    item.read(in);
                }
            }
        }

        @Override
        public void slots(Consumer<Slot> action) {
            if (key != null) {
                key.slots(action);
            }
            item.slots(action);
        }

        @Override
        public void setNull() {
            slots(nullList == null ? Slot::setNull : slot -> slot.setNullInList(nullList));
        }
    }

    /** A union of null and something else. */
    record OrNull(AvroNode value, int nullBranch) implements AvroNode {
        @Override
        public void read(AvroBytes in) throws IOException {
            int branch = in.readInt();
            if (branch == nullBranch) {
                value.setNull();
            } else if (branch == 1 - nullBranch) {
                value.read(in);
            } else {
                throw new IOException("a union has branch " + branch + " of 2");
            }
        }

        @Override
        public void slots(Consumer<Slot> action) {
            value.slots(action);
        }

        @Override
        public void setNull() {
            value.setNull();
        }
    }

    /** A union of one type, or of several that no column can hold. The latter is decoded to find its end. */
    record Union(List<AvroNode> branches) implements AvroNode {
        @Override
        public void read(AvroBytes in) throws IOException {
            int branch = in.readInt();
            if (branch < 0 || branch >= branches.size()) {
                throw new IOException("a union has branch " + branch + " of " + branches.size());
            }
            branches.get(branch).read(in);
        }

        @Override
        public void slots(Consumer<Slot> action) {
            branches.forEach(branch -> branch.slots(action));
        }

        @Override
        public void setNull() {
            branches.forEach(AvroNode::setNull);
        }
    }
}
