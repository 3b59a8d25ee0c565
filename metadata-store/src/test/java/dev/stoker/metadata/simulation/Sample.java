package dev.stoker.metadata.simulation;

import java.util.Optional;

/**
 * A sample as every reader must see it.
 *
 * @param split where it is
 * @param label name of its class
 * @param score value of a field that only some versions have; empty for null
 * @param image its payload
 */
record Sample(String split, String label, Optional<Long> score, String image) {

    Sample withLabel(String other) {
        return new Sample(split, other, score, image);
    }

    Sample withScore(Optional<Long> other) {
        return new Sample(split, label, other, image);
    }
}
