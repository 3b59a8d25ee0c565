package dev.stoker.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractGetEnclosingRoot;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class EnclosingRootContractTest extends AbstractContractGetEnclosingRoot {

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
        return new StokerContract(conf);
    }
}
