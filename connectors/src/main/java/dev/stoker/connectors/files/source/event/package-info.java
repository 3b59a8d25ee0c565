/**
 * The events by which readers report the sub-directories that they found. Values only.
 */
package dev.stoker.connectors.files.source.event;
