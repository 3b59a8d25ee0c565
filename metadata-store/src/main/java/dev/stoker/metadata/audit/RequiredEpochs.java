package dev.stoker.metadata.audit;

import java.util.Map;
import java.util.OptionalLong;

/**
 * The number of epochs that must be complete. The entry of a stream's group comes before the entry of a group of any
 * stream, and both before the default.
 *
 * @param byDefault epochs of all other groups; if absent, their epochs may be open
 * @param byGroup epochs by group, as {@code group} or {@code stream/group}; 0 = the group's epochs may be open
 */
public record RequiredEpochs(OptionalLong byDefault, Map<String, Long> byGroup) {
    /** No epoch must be complete. */
    public static final RequiredEpochs NONE = new RequiredEpochs(OptionalLong.empty(), Map.of());

    public RequiredEpochs {
        byGroup = Map.copyOf(byGroup);
    }

    /** Returns the same number of epochs for all groups. */
    public static RequiredEpochs ofAll(long epochs) {
        return new RequiredEpochs(OptionalLong.of(epochs), Map.of());
    }

    /** Returns the number of epochs that must be complete in a group; 0 if none. */
    public long of(String stream, String group) {
        Long epochs = byGroup.getOrDefault(stream + "/" + group, byGroup.get(group));
        return epochs == null ? byDefault.orElse(0) : epochs;
    }
}
