/**
 * The place that an export is written to, and how it becomes complete for readers: in one step, with its file {@code
 * _SUCCESS}.
 */
package dev.stoker.export.place;
