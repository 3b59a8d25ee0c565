/** Conditions that select rows, as in SQL's {@code WHERE}: see docs/formats/where.md. */
@NullMarked
package dev.stoker.schemas.condition;

import org.jspecify.annotations.NullMarked;
