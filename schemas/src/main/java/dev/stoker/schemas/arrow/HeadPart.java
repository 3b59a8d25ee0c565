package dev.stoker.schemas.arrow;

import java.util.ArrayList;
import java.util.List;

/**
 * Locates a part of a file's head that has its own checksum in the footer: a dictionary batch, the metadata of the
 * record batch, or a buffer. Zero bytes fill the space between the parts.
 *
 * @param position position in the file
 * @param length bytes without padding; 0 for an empty buffer
 */
public record HeadPart(long position, int length) {

    /**
     * Returns the parts in file order: each dictionary batch with its body, the record batch without its body, and each
     * buffer of the record batch except payload data.
     *
     * @param offsets offset of each buffer in the body
     * @param lengths length of each buffer
     */
    static List<HeadPart> of(
            List<ArrowFooter.Block> dictionaries,
            ArrowFooter.Block batch,
            RecordBatchLayout layout,
            long[] offsets,
            long[] lengths) {
        List<HeadPart> parts = new ArrayList<>();
        for (ArrowFooter.Block block : dictionaries) {
            parts.add(new HeadPart(block.position(), Math.toIntExact(block.headLength() + block.bodyLength())));
        }
        parts.add(new HeadPart(batch.position(), batch.headLength()));
        long body = batch.position() + batch.headLength();
        for (int b = 0; b < layout.buffers(); b++) {
            if (!layout.isPayload(b)) {
                parts.add(new HeadPart(body + offsets[b], Math.toIntExact(lengths[b])));
            }
        }
        return List.copyOf(parts);
    }

    /** Returns the position after the last byte. */
    public long end() {
        return position + length;
    }
}
