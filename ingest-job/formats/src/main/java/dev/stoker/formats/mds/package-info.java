/** MosaicML's MDS shards. {@link dev.stoker.formats.mds.MdsIndex} reads the list of a dataset's shards. */
package dev.stoker.formats.mds;
