/** Rows of a version for which the condition of a feed is true. */
@NullMarked
package dev.stoker.metadata.selection;

import org.jspecify.annotations.NullMarked;
