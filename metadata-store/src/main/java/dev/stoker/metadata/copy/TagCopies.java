package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Tags;
import dev.stoker.schemas.dataset.Tag;
import java.io.IOException;
import java.util.Map;
import java.util.Map.Entry;

/**
 * Brings changes of tags from the source to the target. A change that was made at the target stays, unless the target
 * is a mirror.
 */
final class TagCopies {

    private TagCopies() {}

    /**
     * Makes the changes.
     *
     * @param plan knows the versions whose chunks are copied; other tags wait
     * @param visible the newest version of the target; tags of later versions wait
     * @return number of changes
     */
    static int copy(CopyPlan plan, Dataset source, Dataset target, long visible, CopyRule rule) throws IOException {
        boolean isMirror = rule.has(CopyRule.Extra.TAGS_OF_SOURCE);
        Map<String, Tag> there = new Tags(source).changes();
        Tags tags = new Tags(target);
        Map<String, Tag> here = tags.changes();
        int changes = 0;
        for (Tag change : there.values()) {
            Tag own = here.get(change.name());
            boolean isSame = own == null ? change.isDeleted() : own.version() == change.version();
            boolean isOwn = own != null && own.number() >= change.number();
            boolean isPossible = change.version() <= visible && plan.isKept(change.version());
            if (!isSame && isPossible && (isMirror || !isOwn)) {
                tags.adopt(change);
                changes++;
            }
        }
        for (Entry<String, Tag> own : here.entrySet()) {
            Tag tag = own.getValue();
            if (isMirror && !tag.isDeleted() && !there.containsKey(own.getKey())) {
                tags.adopt(new Tag(tag.dataset(), tag.name(), tag.number() + 1, 0, tag.created(), tag.by()));
                changes++;
            }
        }
        return changes;
    }
}
