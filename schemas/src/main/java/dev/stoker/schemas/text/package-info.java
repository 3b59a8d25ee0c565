/**
 * Numbers, sizes and times as people read them, in one form for all messages, tables and progress lines. Thread-safe.
 */
package dev.stoker.schemas.text;
