/// A language as tracks and people name it: `en`, `eng`, `en-GB`, `ger` and `deu` alike.
///
/// Codes of two letters (ISO 639-1) and the bibliographic ones of three (ISO 639-2/B) become the terminological ones (ISO 639-2/T), so that all
/// names of one language are equal. Anything else is kept as it is written.
struct LanguageCode: Hashable, Sendable {
    /// In lower case.
    let language: String
    /// What follows the language: a script or a region, in lower case; empty where there is none.
    let region: String

    init(_ text: String) {
        let parts = text.lowercased().split(whereSeparator: { $0 == "-" || $0 == "_" })
        let code = parts.first.map(String.init) ?? ""
        language = Self.terminological[code] ?? code
        region = parts.dropFirst().joined(separator: "-")
    }

    /// Whether who asks for this language is content with `other`: `en` covers `en-GB`, not the other way round.
    func covers(_ other: LanguageCode) -> Bool { !language.isEmpty && language == other.language && (region.isEmpty || region == other.region) }

    private static let terminological: [String: String] = {
        let pairs = (short + " " + bibliographic).split(separator: " ").map { $0.split(separator: ":").map(String.init) }
        return Dictionary(pairs.map { ($0[0], $0[1]) }) { first, _ in first }
    }()

    private static let short = """
        aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bh:bih bi:bis bm:bam bn:ben bo:bod \
        br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces cu:chu cv:chv cy:cym da:dan de:deu dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa \
        et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv \
        ht:hat hu:hun hy:hye hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik kj:kua \
        kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav \
        mg:mlg mh:mah mi:mri mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld nn:nno no:nor nr:nbl nv:nav \
        ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd \
        se:sme sg:sag si:sin sk:slk sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir \
        tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid \
        yo:yor za:zha zh:zho zu:zul
        """

    private static let bibliographic = """
        alb:sqi arm:hye baq:eus bur:mya chi:zho cze:ces dut:nld fre:fra geo:kat ger:deu gre:ell ice:isl mac:mkd mao:mri may:msa per:fas rum:ron \
        slo:slk tib:bod wel:cym
        """
}
