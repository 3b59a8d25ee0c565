/** The operators of an export. They run on the threads of their tasks. */
package dev.stoker.export.task;
